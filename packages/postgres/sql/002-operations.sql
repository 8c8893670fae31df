-- Leases in PostgreSQL, version 2: the operations of the store. It can be run again at any time.
-- The names of functions end with the version of their signature, so that older and newer clients can share the tables.
--
-- Each function is one operation and reads several times. Under READ COMMITTED each of its statements sees the rows as they
-- are by then, so that it can lock first and decide afterwards. Under a stricter level all see the same instant: a row that
-- was changed since makes the statement fail with 40001, and the client repeats it.

-- A row as the clients read it.
create or replace function "leasehold"."leases_record_1"(p_lease "leasehold"."leases", p_now timestamptz) returns json
language plpgsql as $$
begin
  return json_build_array(
    case
      when p_lease.locked_until > p_now then p_lease.state
      when p_lease.state = 'leased' then 'expired'
      when p_lease.state = 'breaking' then 'broken'
      else p_lease.state
    end,
    p_lease.grant_id, p_lease.owner, p_lease.fencing_token::text, p_lease.ttl,
    case
      when p_lease.locked_until <= p_now then null
      when isfinite(p_lease.locked_until) then ceil(extract(epoch from p_lease.locked_until - p_now) * 1000)
      else -1
    end,
    p_lease.metadata, p_lease.break_reason,
    case when p_lease.locked_until > p_now then p_lease.previous end,
    case when p_lease.locked_until > p_now then p_lease.previous_reason end,
    floor(extract(epoch from p_lease.granted_at) * 1000), p_lease.renewals, p_lease.name
  );
end
$$;

-- Lets the changes of the queue of a name happen one after the other: a release must not miss a waiter that takes its place
-- at the same time. Waiters share the lock. It ends with the transaction.
create or replace function "leasehold"."leases_lock_1"(p_name text, p_shared boolean) returns void
language plpgsql as $$
declare
  v_key bigint := hashtextextended('"leasehold"."leases" ' || p_name, 0);
begin
  if current_setting('transaction_isolation') = 'read committed' then
    if p_shared then perform pg_advisory_xact_lock_shared(v_key); else perform pg_advisory_xact_lock(v_key); end if;
  elsif not (
    case when p_shared then pg_try_advisory_xact_lock_shared(v_key) else pg_try_advisory_xact_lock(v_key) end
  ) then
    -- After a wait, this transaction would not see the changes that it waited for.
    raise exception 'the queue of the lease is in use' using errcode = 'serialization_failure';
  end if;
end
$$;

-- The first waiter that is alive; drops the dead ones.
create or replace function "leasehold"."leases_first_1"(p_name text, out r_place bigint, out r_grant text, out r_channel text)
language plpgsql as $$
declare
  v_kept_until timestamptz;
begin
  for v_round in 1..2 loop
    select w.place, w.grant_id, w.channel, w.kept_until into r_place, r_grant, r_channel, v_kept_until
      from "leasehold"."leases_waiters" w
      where w.name = p_name and not w.watches and (v_round = 1 or w.kept_until > clock_timestamp())
      order by w.place limit 1;
    if not found or v_kept_until > clock_timestamp() then return; end if;
    -- A waiter that repeats its request just now keeps its place.
    delete from "leasehold"."leases_waiters" w
      where w.ctid = any(array(
        select d.ctid from "leasehold"."leases_waiters" d
        where d.name = p_name and not d.watches and d.kept_until <= clock_timestamp()
        for update skip locked
      ));
  end loop;
end
$$;

-- Notifies the first waiter of a name that has become free, and its watchers. The lock of the queue must be held.
create or replace function "leasehold"."leases_wake_1"(p_name text) returns void
language plpgsql as $$
declare
  v_grant text;
  v_channel text;
begin
  if not exists (select from "leasehold"."leases_waiters" w where w.name = p_name) then return; end if;
  select r_grant, r_channel into v_grant, v_channel from "leasehold"."leases_first_1"(p_name);
  -- The payload of a notification is limited to 8,000 bytes.
  if v_grant is not null then perform pg_notify(v_channel, 'turn ' || left(v_grant, 1000)); end if;
  for v_channel in
    select w.channel from "leasehold"."leases_waiters" w
      where w.name = p_name and w.watches and w.kept_until > clock_timestamp()
  loop
    perform pg_notify(v_channel, 'free ' || p_name);
  end loop;
end
$$;

-- Removes the place of a waiter that has got its turn.
create or replace function "leasehold"."leases_leave_1"(p_name text, p_grant text) returns void
language plpgsql as $$
begin
  delete from "leasehold"."leases_waiters" w where w.name = p_name and w.grant_id = p_grant and not w.watches;
end
$$;

-- Takes a place in the queue, or keeps the one that there is. Returns false if the lock of the queue is needed first.
create or replace function "leasehold"."leases_wait_1"(
  p_name text, p_grant text, p_ttl bigint, p_channel text, p_locked boolean
) returns boolean
language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_kept_until timestamptz := v_now + coalesce(p_ttl, 60000) * interval '1 millisecond';
  v_place bigint;
begin
  update "leasehold"."leases_waiters" w set kept_until = v_kept_until, channel = p_channel
    where w.name = p_name and w.grant_id = p_grant and not w.watches and w.kept_until > v_now;
  if found then return true; end if;
  if not p_locked then return false; end if;
  delete from "leasehold"."leases_waiters" w where w.name = p_name and w.grant_id = p_grant;
  insert into "leasehold"."leases_waiters" (kept_until, name, grant_id, channel)
    values (v_kept_until, p_name, p_grant, p_channel)
    on conflict (name, grant_id) do update set kept_until = excluded.kept_until, channel = excluded.channel
    returning place into v_place;
  -- Dead waiters would pile up behind one that waits for long.
  if v_place % 64 = 0 then
    delete from "leasehold"."leases_waiters" w
      where w.ctid = any(array(
        select d.ctid from "leasehold"."leases_waiters" d
        where d.name = p_name and d.kept_until <= v_now
        for update skip locked
      ));
  end if;
  return true;
end
$$;

create or replace function "leasehold"."leases_acquire_1"(
  p_name text, p_grant text, p_owner text, p_ttl bigint, p_metadata json, p_queue boolean, p_channel text
) returns json
language plpgsql as $$
declare
  v_lease "leasehold"."leases";
  v_now timestamptz;
  v_exists boolean;
  v_has_lock boolean := false;
  v_is_busy boolean := false;
  v_first text;
begin
  loop
    select l.* into v_lease from "leasehold"."leases" l where l.name = p_name;
    v_exists := found;
    v_now := clock_timestamp();
    v_is_busy := v_is_busy and v_exists and v_lease.locked_until <= v_now;
    if v_exists and v_lease.locked_until > v_now and v_lease.state = 'leased' and v_lease.grant_id = p_grant then
      -- A repeated request. It changes no key: it does not wait for a guard.
      update "leasehold"."leases" l set
          owner = p_owner, ttl = p_ttl, metadata = coalesce(p_metadata, l.metadata),
          locked_until = coalesce(clock_timestamp() + p_ttl * interval '1 millisecond', 'infinity')
        where l.name = p_name and l.grant_id = p_grant and l.state = 'leased' and l.locked_until > v_now
        returning l.* into v_lease;
      continue when not found;
      perform "leasehold"."leases_leave_1"(p_name, p_grant);
      return json_build_array(
        'granted', v_lease.fencing_token::text, v_lease.ttl, v_lease.previous, v_lease.previous_reason
      );
    end if;

    v_first := null;
    if not v_exists or v_lease.locked_until <= v_now then
      if exists (select from "leasehold"."leases_waiters" w where w.name = p_name and not w.watches) then
        select r_grant into v_first from "leasehold"."leases_first_1"(p_name);
      end if;
      if not v_is_busy and (v_first is null or v_first = p_grant) then
        if v_exists then
          -- A guard in an open transaction keeps the row from a new grant: the request is refused at once.
          select l.* into v_lease from "leasehold"."leases" l where l.name = p_name for update skip locked;
          if not found then
            v_is_busy := true;
            continue;
          end if;
          v_now := clock_timestamp();
          continue when v_lease.locked_until > v_now;
          update "leasehold"."leases" l set
              grant_id = p_grant, owner = p_owner, ttl = p_ttl, state = 'leased', granted_at = v_now, renewals = 0,
              fencing_token = greatest(l.fencing_token + 1, (extract(epoch from v_now) * 1000000)::bigint),
              locked_until = coalesce(v_now + p_ttl * interval '1 millisecond', 'infinity'),
              metadata = coalesce(p_metadata, l.metadata), break_reason = null,
              previous = l.metadata, previous_reason = l.break_reason
            where l.name = p_name
            returning l.* into v_lease;
        else
          insert into "leasehold"."leases" (fencing_token, ttl, granted_at, locked_until, state, name, grant_id, owner, metadata)
            values (
              (extract(epoch from v_now) * 1000000)::bigint, p_ttl, v_now,
              coalesce(v_now + p_ttl * interval '1 millisecond', 'infinity'), 'leased', p_name, p_grant, p_owner,
              coalesce(p_metadata, '{}')
            )
            on conflict (name) do nothing
            returning * into v_lease;
          continue when not found;
        end if;
        if v_first is not null then perform "leasehold"."leases_leave_1"(p_name, p_grant); end if;
        return json_build_array(
          'granted', v_lease.fencing_token::text, v_lease.ttl, v_lease.previous, v_lease.previous_reason
        );
      end if;
    elsif p_queue then
      select r_grant into v_first from "leasehold"."leases_first_1"(p_name);
    end if;

    if p_queue and not "leasehold"."leases_wait_1"(p_name, p_grant, p_ttl, p_channel, v_has_lock) then
      -- The name may have become free while the lock was not held.
      perform "leasehold"."leases_lock_1"(p_name, true);
      v_has_lock := true;
      v_is_busy := false;
      continue;
    end if;
    return json_build_array(
      case when v_is_busy then 'busy' else 'refused' end,
      coalesce(v_first, p_grant) = p_grant,
      case when v_is_busy or v_lease.locked_until > v_now then "leasehold"."leases_record_1"(v_lease, v_now) end
    );
  end loop;
end
$$;

-- Grants many names that are free and have no waiters. Waits for no lock, so that the statement may hold others meanwhile.
-- p_calls has columns: names, grant ids, owners, ttls and metadata. A claim without an answer needs leases_acquire_1.
create or replace function "leasehold"."leases_acquire_many_1"(p_calls jsonb) returns json
language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_token bigint := (extract(epoch from v_now) * 1000000)::bigint;
  v_granted json;
  v_count bigint;
  v_refused json;
begin
  with free as materialized (
    select l.id, c.*
      from rows from (
        jsonb_array_elements_text(p_calls -> 1), jsonb_array_elements_text(p_calls -> 2), jsonb_array_elements_text(p_calls -> 3),
        jsonb_array_elements_text(p_calls -> 4), jsonb_array_elements_text(p_calls -> 5)
      ) with ordinality as c(name, grant_id, owner, ttl, metadata, place)
      cross join lateral (
        select o.ctid as id from "leasehold"."leases" o
          where o.name = c.name and o.locked_until <= v_now
            and not exists (select from "leasehold"."leases_waiters" w where w.name = c.name and not w.watches)
          for update skip locked
      ) l
  ), granted as (
    -- A version of a row that came after the look at the waiters is not found by its place: that claim has no answer.
    update "leasehold"."leases" l set
        grant_id = f.grant_id, owner = f.owner, ttl = f.ttl::bigint, state = 'leased', granted_at = v_now, renewals = 0,
        fencing_token = greatest(l.fencing_token + 1, v_token),
        locked_until = coalesce(v_now + f.ttl::bigint * interval '1 millisecond', 'infinity'),
        metadata = coalesce(f.metadata::json, l.metadata), break_reason = null,
        previous = l.metadata, previous_reason = l.break_reason
      from free f
      where l.ctid = f.id and l.locked_until <= v_now
      returning f.place, l.fencing_token, l.ttl, l.previous, l.previous_reason
  )
  select
      json_build_array(
        array_agg(g.place), array_agg(g.fencing_token::text), array_agg(g.ttl), array_agg(g.previous),
        array_agg(g.previous_reason)
      ), count(*)
    into v_granted, v_count from granted g;
  if v_count < jsonb_array_length(p_calls -> 1) then
    v_now := clock_timestamp();
    select json_agg(json_build_array(c.place, l.record)) into v_refused
      from rows from (jsonb_array_elements_text(p_calls -> 1), jsonb_array_elements_text(p_calls -> 2))
        with ordinality as c(name, grant_id, place)
      cross join lateral (
        select "leasehold"."leases_record_1"(o, v_now) as record from "leasehold"."leases" o
          where o.name = c.name and o.locked_until > v_now and o.grant_id <> c.grant_id
      ) l;
  end if;
  return json_build_array(v_granted, v_refused);
end
$$;

-- The record of the holder; null if the name is free.
create or replace function "leasehold"."leases_holder_1"(p_name text) returns json
language plpgsql as $$
declare
  v_lease "leasehold"."leases";
  v_now timestamptz;
begin
  select l.* into v_lease from "leasehold"."leases" l where l.name = p_name;
  v_now := clock_timestamp();
  if v_lease.locked_until > v_now then return "leasehold"."leases_record_1"(v_lease, v_now); end if;
  return null;
end
$$;

-- Renews many grants and returns the exceptions: an index and an answer for each grant that was not renewed.
create or replace function "leasehold"."leases_renew_1"(p_names text[], p_grants text[]) returns json
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
        from unnest(p_names, p_grants) as w(name, grant_id)
        where l.name = w.name and l.grant_id = w.grant_id and l.state = 'leased'
        returning l.name, l.grant_id
    )
    select array_agg(r.name), array_agg(r.grant_id) into v_names, v_grants from renewed r;
    perform set_config('lock_timeout', v_limit, true);
  exception when lock_not_available then
    with free as (
      select l.name, l.grant_id
        from unnest(p_names, p_grants) as w(name, grant_id)
        join "leasehold"."leases" l on l.name = w.name and l.grant_id = w.grant_id and l.state = 'leased'
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
        else json_build_array('locked')
      end
    )), '[]')
    from unnest(p_names, p_grants) with ordinality as w(name, grant_id, place)
    left join "leasehold"."leases" l on l.name = w.name
    where (w.name, w.grant_id) not in (select d.name, d.grant_id from unnest(v_names, v_grants) as d(name, grant_id))
  );
end
$$;

create or replace function "leasehold"."leases_update_1"(p_name text, p_grant text, p_metadata json) returns json
language plpgsql as $$
declare
  v_exceptions json;
begin
  update "leasehold"."leases" l set
      locked_until = coalesce(clock_timestamp() + l.ttl * interval '1 millisecond', 'infinity'),
      renewals = l.renewals + 1, metadata = p_metadata, break_reason = null
    where l.name = p_name and l.grant_id = p_grant and l.state = 'leased';
  if found then return '["renewed"]'; end if;
  v_exceptions := "leasehold"."leases_renew_1"(array[p_name], array[p_grant]);
  return coalesce(v_exceptions -> 0 -> 1, '["locked"]');
end
$$;

-- How many wait in the queue of a name and are alive.
create or replace function "leasehold"."leases_waiting_1"(p_name text) returns bigint
language plpgsql as $$
begin
  return (
    select count(*) from "leasehold"."leases_waiters" w
      where w.name = p_name and not w.watches and w.kept_until > clock_timestamp()
  );
end
$$;

create or replace function "leasehold"."leases_read_1"(p_name text) returns json
language plpgsql as $$
declare
  v_lease "leasehold"."leases";
begin
  select l.* into v_lease from "leasehold"."leases" l where l.name = p_name;
  if not found then return null; end if;
  return json_build_array("leasehold"."leases_record_1"(v_lease, clock_timestamp()), "leasehold"."leases_waiting_1"(p_name));
end
$$;

-- Changes no key: it does not wait for a guard, whose transaction still keeps the name from a new grant.
create or replace function "leasehold"."leases_release_1"(p_name text, p_grant text, p_metadata json) returns json
language plpgsql as $$
declare
  v_has_expiry boolean;
  v_is_awaited boolean;
begin
  perform "leasehold"."leases_lock_1"(p_name, false);
  update "leasehold"."leases" l set
      state = 'available', locked_until = '-infinity', metadata = coalesce(p_metadata, l.metadata),
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
-- p_calls has columns: names and grant ids. A release without an answer needs leases_release_1.
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

create or replace function "leasehold"."leases_change_1"(p_name text, p_grant text, p_to text, p_owner text) returns json
language plpgsql as $$
declare
  v_lease "leasehold"."leases";
  v_now timestamptz;
begin
  select l.* into v_lease from "leasehold"."leases" l where l.name = p_name;
  v_now := clock_timestamp();
  if v_lease.state = 'leased' and v_lease.locked_until > v_now and v_lease.grant_id = p_grant and p_grant <> p_to then
    -- A guard of the holder in an open transaction: the change has to wait, and the client asks again.
    perform from "leasehold"."leases" l where l.name = p_name for update skip locked;
    if not found then return '["busy"]'; end if;
    v_now := clock_timestamp();
    update "leasehold"."leases" l set
        grant_id = p_to, owner = p_owner, granted_at = v_now, renewals = 0,
        fencing_token = greatest(l.fencing_token + 1, (extract(epoch from v_now) * 1000000)::bigint),
        locked_until = coalesce(v_now + l.ttl * interval '1 millisecond', 'infinity'),
        previous = l.metadata, previous_reason = l.break_reason, break_reason = null
      where l.name = p_name and l.grant_id = p_grant and l.state = 'leased' and l.locked_until > v_now
      returning l.* into v_lease;
  else
    -- A change whose answer was lost.
    update "leasehold"."leases" l set
        owner = p_owner, locked_until = coalesce(v_now + l.ttl * interval '1 millisecond', 'infinity')
      where l.name = p_name and l.grant_id = p_to and l.state = 'leased' and l.locked_until > v_now
      returning l.* into v_lease;
  end if;
  if not found then return json_build_array('refused', false, "leasehold"."leases_holder_1"(p_name)); end if;
  perform "leasehold"."leases_leave_1"(p_name, p_to);
  return json_build_array(
    'granted', v_lease.fencing_token::text, v_lease.ttl, v_lease.previous, v_lease.previous_reason
  );
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

create or replace function "leasehold"."leases_withdraw_1"(p_name text, p_grant text) returns json
language plpgsql as $$
begin
  perform "leasehold"."leases_lock_1"(p_name, false);
  delete from "leasehold"."leases_waiters" w where w.name = p_name and w.grant_id = p_grant and not w.watches;
  if found and "leasehold"."leases_holder_1"(p_name) is null then perform "leasehold"."leases_wake_1"(p_name); end if;
  return '["withdrawn"]';
end
$$;

-- Registers a watcher for a period, in milliseconds.
create or replace function "leasehold"."leases_watch_1"(p_name text, p_channel text, p_period bigint) returns json
language plpgsql as $$
begin
  perform "leasehold"."leases_lock_1"(p_name, true);
  delete from "leasehold"."leases_waiters" w
    where w.name = p_name and w.watches and w.kept_until <= clock_timestamp() and w.channel <> p_channel;
  insert into "leasehold"."leases_waiters" (kept_until, watches, name, grant_id, channel)
    values (clock_timestamp() + p_period * interval '1 millisecond', true, p_name, 'watch ' || p_channel, p_channel)
    on conflict (name, grant_id) do update set kept_until = excluded.kept_until;
  return json_build_array('watched', "leasehold"."leases_holder_1"(p_name));
end
$$;

-- A page of records by name, after a name.
create or replace function "leasehold"."leases_list_1"(p_prefix text, p_after text, p_limit integer) returns json
language sql volatile as $$
  select coalesce(
    json_agg(
      json_build_array("leasehold"."leases_record_1"(l, clock_timestamp()), "leasehold"."leases_waiting_1"(l.name))
    ),
    '[]'
  )
  from (
    select o.* from "leasehold"."leases" o
    -- No name is longer than 1,024 bytes: 256 of the largest character.
    where o.name > p_after and o.name >= p_prefix and o.name <= p_prefix || repeat(chr(1114111), 256)
      and starts_with(o.name, p_prefix)
    order by o.name limit p_limit
  ) l
$$;

-- Runs operations, each an array of its name and its arguments, and returns their answers in the same order.
-- p_patience: how long a row that another transaction has locked is waited for, in milliseconds.
create or replace function "leasehold"."leases_run_1"(p_calls jsonb, p_patience integer) returns text
language plpgsql as $$
declare
  v_call jsonb;
  v_operation text;
  v_answer json;
  v_answers json[] := '{}';
  -- Whether the answers may be sent before the changes are on disk.
  v_is_early boolean := true;
begin
  -- A standby may lag behind: its answers would be of the past.
  if current_setting('transaction_read_only')::boolean then
    raise exception 'leases need a server that can write' using errcode = 'read_only_sql_transaction';
  end if;
  -- Many waiters of one name make the planner believe that every name has many, and small tables that it is best to read all.
  -- Rows are looked up by index alone. And a plan for arrays of one length looks better than one for all, so that each call
  -- would make its own.
  perform set_config('lock_timeout', p_patience || 'ms', true), set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true);
  for v_call in select value from jsonb_array_elements(p_calls) loop
    -- One assignment a branch: a subquery in one branch of an expression makes the whole expression slow.
    v_operation := v_call ->> 0;
    if v_operation = 'acquire' then
      v_answer := "leasehold"."leases_acquire_1"(
        v_call ->> 1, v_call ->> 2, v_call ->> 3, (v_call ->> 4)::bigint, (v_call ->> 5)::json, (v_call ->> 6)::boolean, v_call ->> 7
      );
    elsif v_operation = 'acquire-many' then
      v_answer := "leasehold"."leases_acquire_many_1"(v_call);
    elsif v_operation = 'release-many' then
      v_answer := "leasehold"."leases_release_many_1"(v_call);
    elsif v_operation = 'renew' then
      v_answer := "leasehold"."leases_renew_1"(
        array(select jsonb_array_elements_text(v_call -> 1)), array(select jsonb_array_elements_text(v_call -> 2))
      );
    elsif v_operation = 'release' then
      v_answer := "leasehold"."leases_release_1"(v_call ->> 1, v_call ->> 2, (v_call ->> 3)::json);
    elsif v_operation = 'update' then
      v_answer := "leasehold"."leases_update_1"(v_call ->> 1, v_call ->> 2, (v_call ->> 3)::json);
    elsif v_operation = 'read' then
      v_answer := "leasehold"."leases_read_1"(v_call ->> 1);
    elsif v_operation = 'change' then
      v_answer := "leasehold"."leases_change_1"(v_call ->> 1, v_call ->> 2, v_call ->> 3, v_call ->> 4);
    elsif v_operation = 'break' then
      v_answer := "leasehold"."leases_break_1"(v_call ->> 1, (v_call ->> 2)::bigint, v_call ->> 3, v_call ->> 4);
    elsif v_operation = 'withdraw' then
      v_answer := "leasehold"."leases_withdraw_1"(v_call ->> 1, v_call ->> 2);
    elsif v_operation = 'watch' then
      v_answer := "leasehold"."leases_watch_1"(v_call ->> 1, v_call ->> 2, (v_call ->> 3)::bigint);
    elsif v_operation = 'list' then
      v_answer := "leasehold"."leases_list_1"(v_call ->> 1, v_call ->> 2, (v_call ->> 3)::integer);
    else
      v_answer := json_build_array('unknown');
    end if;
    v_answers := v_answers || v_answer;
    v_is_early := v_is_early and (
      v_operation = 'release' and v_call ->> 3 is null and v_answer ->> 1 = 'expires'
      or v_operation = 'release-many' and v_answer ->> 1 = 'true'
    );
  end loop;
  -- A release waits for no disk: the next grant writes both. If the server crashes before, the lease expires instead. Metadata
  -- that a holder leaves, and the release of a lease that never expires, are written first.
  if v_is_early then perform set_config('synchronous_commit', 'off', true);
  -- A crash must not undo what was confirmed: somebody else would be granted a lease that is held. All other levels wait for
  -- the disk of this server.
  elsif current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true);
  end if;
  return array_to_json(v_answers)::text;
end
$$;

insert into "leasehold"."leases_migrations" (version) values (2) on conflict do nothing;
