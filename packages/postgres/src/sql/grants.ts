/** Operations that make a grant. */
export const grants = `
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

create or replace function "leasehold"."leases_change_1"(p_name text, p_grant text, p_to text, p_owner text) returns json
language plpgsql as $$
declare
  v_lease "leasehold"."leases";
  v_now timestamptz;
  v_channel text;
begin
  -- A waiter must not take its place, or keep it, while the lease is passed on to it.
  perform "leasehold"."leases_lock_1"(p_name, false);
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
  delete from "leasehold"."leases_waiters" w where w.name = p_name and w.grant_id = p_to and not w.watches
    returning w.channel into v_channel;
  if found then perform pg_notify(v_channel, 'turn ' || left(p_to, 1000)); end if;
  return json_build_array(
    'granted', v_lease.fencing_token::text, v_lease.ttl, v_lease.previous, v_lease.previous_reason
  );
end
$$;
`
