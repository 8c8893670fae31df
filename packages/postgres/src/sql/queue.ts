/** The waiters and watchers of a name. */
export const queue = `
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
`
