/** A record as clients read it, and the ways to find one. */
export const records = `
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
`
