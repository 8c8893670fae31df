/** The tables. */
export const tables = `
-- A user that may not create schemas can be given one.
do $$
begin
  if not exists (select from pg_namespace where nspname = 'leasehold') then create schema "leasehold"; end if;
end
$$;

create table if not exists "leasehold"."leases_migrations" (
  version integer primary key,
  applied_at timestamptz not null default clock_timestamp()
);

-- One row for each name. It stays after the lease has ended, because it keeps the fencing token.
--
-- Only a new grant changes the grant id. That column is part of a unique key, so that a row lock FOR KEY SHARE (the guard)
-- holds up new grants, and neither renewals nor releases. Renewals change no indexed column, and pages have room for them,
-- so that rows are updated in place.
create table if not exists "leasehold"."leases" (
  fencing_token bigint not null,
  -- Milliseconds; null: without an expiry.
  ttl bigint,
  granted_at timestamptz not null,
  -- When the lock of a leased or breaking row ends.
  locked_until timestamptz not null,
  renewals bigint not null default 0,
  -- leased, breaking, broken or available, as it was written: an expiry writes nothing.
  state text not null,
  name text collate "C" not null,
  grant_id text collate "C" not null,
  owner text not null,
  metadata json not null default '{}',
  break_reason text,
  -- As the last holder left them; null for the first holder.
  previous json,
  previous_reason text,
  constraint "leases_pkey" primary key (name) with (fillfactor = 80),
  constraint "leases_grant_key" unique (name, grant_id) with (fillfactor = 80)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- The waiters of a name, first come, first served, and its watchers, which have no turn.
create table if not exists "leasehold"."leases_waiters" (
  place bigint generated always as identity,
  -- A place ends at this time, unless the waiter asks again before.
  kept_until timestamptz not null,
  watches boolean not null default false,
  name text collate "C" not null,
  grant_id text collate "C" not null,
  channel text not null,
  constraint "leases_waiters_pkey" primary key (name, watches, place),
  constraint "leases_waiters_grant_key" unique (name, grant_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- The largest fencing token that has written a resource.
create table if not exists "leasehold"."leases_fences" (
  fencing_token numeric not null,
  resource text collate "C" primary key
) with (fillfactor = 70);
`
