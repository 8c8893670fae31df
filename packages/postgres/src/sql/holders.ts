/** Operations of a holder, and those that end a grant. */
export const holders = `
-- Renews many grants and returns the exceptions: an index and an answer for each grant that was not renewed.
-- A late duplicate of a claim can be granted again, under the same id and with a larger token: the earlier grant stays over.
-- p_tokens: empty for a client that is older than this argument.
create or replace function "leasehold"."leases_renew_2"(p_names text[], p_grants text[], p_tokens bigint[]) returns json
language plpgsql as $$
declare
  v_names text[];
  v_grants text[];
  v_limit text := current_setting('lock_timeout');
begin
  begin
    -- One row that another transaction has locked must not hold up the others.
    perform set_config('lock_timeout', '100ms', true);
    with renewed as (
      update "leasehold"."leases" l set
          locked_until = coalesce(clock_timestamp() + l.ttl * interval '1 millisecond', 'infinity'),
          renewals = l.renewals + 1
        from unnest(p_names, p_grants, p_tokens) as w(name, grant_id, token)
        where l.name = w.name and l.grant_id = w.grant_id and l.state = 'leased'
          and l.fencing_token <= coalesce(w.token, l.fencing_token)
        returning l.name, l.grant_id
    )
    select array_agg(r.name), array_agg(r.grant_id) into v_names, v_grants from renewed r;
    perform set_config('lock_timeout', v_limit, true);
  exception when lock_not_available then
    with free as (
      select l.name, l.grant_id
        from unnest(p_names, p_grants, p_tokens) as w(name, grant_id, token)
        join "leasehold"."leases" l on l.name = w.name and l.grant_id = w.grant_id and l.state = 'leased'
          and l.fencing_token <= coalesce(w.token, l.fencing_token)
        for no key update of l skip locked
    ), renewed as (
      update "leasehold"."leases" l set
          locked_until = coalesce(clock_timestamp() + l.ttl * interval '1 millisecond', 'infinity'),
          renewals = l.renewals + 1
        from free
        where l.name = free.name and l.grant_id = free.grant_id
        returning l.name, l.grant_id
    )
    select array_agg(r.name), array_agg(r.grant_id) into v_names, v_grants from renewed r;
  end;
  if cardinality(v_names) = cardinality(p_names) then return '[]'; end if;
  return (
    select coalesce(json_agg(json_build_array(
      w.place - 1,
      case
        when l.name is null then json_build_array('ended', 'deleted')
        when l.grant_id <> w.grant_id then json_build_array('ended', 'taken', "leasehold"."leases_holder_1"(w.name))
        when l.state in ('breaking', 'broken')
          then json_build_array('ended', 'broken', "leasehold"."leases_holder_1"(w.name))
        when l.state = 'available' then json_build_array('ended', 'expired')
        when l.fencing_token > w.token then json_build_array('later')
        else json_build_array('locked')
      end
    )), '[]')
    from unnest(p_names, p_grants, p_tokens) with ordinality as w(name, grant_id, token, place)
    left join "leasehold"."leases" l on l.name = w.name
    where (w.name, w.grant_id) not in (select d.name, d.grant_id from unnest(v_names, v_grants) as d(name, grant_id))
  );
end
$$;

-- p_token: as for leases_renew_2; null for an older client.
create or replace function "leasehold"."leases_update_2"(p_name text, p_grant text, p_metadata json, p_token bigint) returns json
language plpgsql as $$
declare
  v_exceptions json;
begin
  update "leasehold"."leases" l set
      locked_until = coalesce(clock_timestamp() + l.ttl * interval '1 millisecond', 'infinity'),
      renewals = l.renewals + 1, metadata = p_metadata, break_reason = null
    where l.name = p_name and l.grant_id = p_grant and l.state = 'leased'
      and l.fencing_token <= coalesce(p_token, l.fencing_token);
  if found then return '["renewed"]'; end if;
  v_exceptions := "leasehold"."leases_renew_2"(array[p_name], array[p_grant], array[p_token]);
  return coalesce(v_exceptions -> 0 -> 1, '["locked"]');
end
$$;

-- A token that is as large already stays. Changes no key: it does not wait for a guard. A guard that passed under the earlier
-- token still keeps the name from a new grant; a later one needs the raised token.
-- p_before: the token of the grant; null for an older client.
create or replace function "leasehold"."leases_raise_2"(p_name text, p_grant text, p_token bigint, p_before bigint) returns json
language plpgsql as $$
begin
  update "leasehold"."leases" l set
      locked_until = coalesce(clock_timestamp() + l.ttl * interval '1 millisecond', 'infinity'),
      renewals = l.renewals + 1, fencing_token = greatest(l.fencing_token, p_token)
    where l.name = p_name and l.grant_id = p_grant and l.state = 'leased'
      and l.fencing_token <= greatest(coalesce(p_before, l.fencing_token), p_token);
  if found then return '["renewed"]'; end if;
  return coalesce(
    "leasehold"."leases_renew_2"(array[p_name], array[p_grant], array[greatest(p_before, p_token)]) -> 0 -> 1, '["locked"]'
  );
end
$$;

-- Changes no key: it does not wait for a guard, whose transaction still keeps the name from a new grant.
-- p_token: as for leases_update_2.
create or replace function "leasehold"."leases_release_2"(p_name text, p_grant text, p_metadata json, p_token bigint) returns json
language plpgsql as $$
declare
  v_has_expiry boolean;
  v_is_awaited boolean;
begin
  perform "leasehold"."leases_lock_1"(p_name, false);
  update "leasehold"."leases" l set
      state = 'available', locked_until = '-infinity',
      metadata = case when l.fencing_token > p_token then l.metadata else coalesce(p_metadata, l.metadata) end,
      break_reason = case when p_metadata is null then l.break_reason end
    where l.name = p_name and l.grant_id = p_grant and l.state <> 'available'
    returning l.ttl is not null, exists (select from "leasehold"."leases_waiters" w where w.name = p_name)
    into v_has_expiry, v_is_awaited;
  if not found then return json_build_array('unreleased', "leasehold"."leases_holder_1"(p_name)); end if;
  if v_is_awaited then perform "leasehold"."leases_wake_1"(p_name); end if;
  return case when v_has_expiry then '["released", "expires"]' else '["released"]' end;
end
$$;

-- Releases many grants without metadata. Waits for no lock of a queue, so that the statement may hold others meanwhile.
-- p_calls has columns: names and grant ids. A release without an answer needs leases_release_2.
create or replace function "leasehold"."leases_release_many_1"(p_calls jsonb) returns json
language plpgsql as $$
declare
  v_places bigint[];
  v_names text[];
  v_grants text[];
  v_expire boolean;
  v_name text;
begin
  select array_agg(c.place), array_agg(c.name), array_agg(c.grant_id) into v_places, v_names, v_grants
    from rows from (jsonb_array_elements_text(p_calls -> 1), jsonb_array_elements_text(p_calls -> 2))
      with ordinality as c(name, grant_id, place)
    -- As leases_lock_1 does.
    where pg_try_advisory_xact_lock(hashtextextended('"leasehold"."leases" ' || c.name, 0));
  -- A statement of its own, which sees the waiters that came before the locks.
  with released as (
    update "leasehold"."leases" l set state = 'available', locked_until = '-infinity'
      from unnest(v_places, v_names, v_grants) as c(place, name, grant_id)
      where l.name = c.name and l.grant_id = c.grant_id and l.state <> 'available'
      returning c.place, c.name, l.ttl is not null as expires,
        exists (select from "leasehold"."leases_waiters" w where w.name = c.name) as is_awaited
  )
  select array_agg(r.place), bool_and(r.expires), array_agg(r.name) filter (where r.is_awaited)
    into v_places, v_expire, v_names from released r;
  foreach v_name in array coalesce(v_names, '{}') loop
    perform "leasehold"."leases_wake_1"(v_name);
  end loop;
  return json_build_array(v_places, v_expire);
end
$$;

-- Changes no key: it does not wait for a guard, whose transaction still keeps the name from a new grant.
create or replace function "leasehold"."leases_break_1"(p_name text, p_period bigint, p_reason text, p_grant text) returns json
language plpgsql as $$
declare
  v_lease "leasehold"."leases";
  v_now timestamptz;
  v_left numeric := 0;
begin
  perform "leasehold"."leases_lock_1"(p_name, false);
  select l.* into v_lease from "leasehold"."leases" l where l.name = p_name for no key update;
  if found and v_lease.grant_id <> p_grant then return '["other"]'; end if;
  if not found or v_lease.state = 'available' then return '["free"]'; end if;
  v_now := clock_timestamp();
  if not isfinite(v_lease.locked_until) then v_left := coalesce(p_period, 0);
  elsif v_lease.locked_until > v_now then
    v_left := least(p_period, ceil(extract(epoch from v_lease.locked_until - v_now) * 1000));
  end if;
  if v_lease.locked_until = '-infinity' then v_left := 0; end if;
  update "leasehold"."leases" l set
      state = case when v_left > 0 then 'breaking' else 'broken' end,
      locked_until = case when v_left > 0 then v_now + v_left * interval '1 millisecond' else '-infinity' end,
      break_reason = coalesce(p_reason, l.break_reason)
    where l.name = p_name;
  if v_left = 0 then perform "leasehold"."leases_wake_1"(p_name); end if;
  return json_build_array('broken', v_left);
end
$$;
`
