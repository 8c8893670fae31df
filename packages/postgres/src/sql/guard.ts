/** The guard and the fences, for the transactions of users. */
export const guard = `
-- Fails with LH003 unless the row is locked or written by the outermost transaction, which keeps that until its end. A rollback
-- to a savepoint would undo what was done under it, and the transaction could still commit.
-- p_written and p_locked: xmin and xmax of the row, read after it was locked or written.
create or replace function "leasehold"."leases_outermost_1"(p_what text, p_written xid, p_locked xid) returns void
language plpgsql as $$
declare
  -- As xid writes it, without the epoch.
  v_own text := (txid_current() % 4294967296)::text;
begin
  if v_own in (p_written::text, p_locked::text) then return; end if;
  begin
    -- Several transactions have locked the row.
    if exists (select from pg_get_multixact_members(p_locked) m where m.xid::text = v_own) then return; end if;
  exception when internal_error or invalid_parameter_value then
    -- No such group: one has, and it is not this one.
  end;
  raise exception 'the % was called under a savepoint, whose rollback would end it', p_what
    using errcode = 'LH003', hint = 'Call it first in the outermost transaction.';
end
$$;

-- Call it in the transaction that writes. It fails with LH001 unless the lease is held under this fencing token, by the
-- clock of the server. Until the transaction ends, nobody else is granted the name. Renewals do not wait for it. It fails with
-- LH003 under a savepoint.
-- p_idle_limit: ends this transaction if its client sends nothing for so many milliseconds.
create or replace function "leasehold"."leases_guard"(p_name text, p_token numeric, p_idle_limit integer default null) returns void
language plpgsql as $$
declare
  v_lease "leasehold"."leases";
begin
  if p_idle_limit is not null then
    perform set_config('idle_in_transaction_session_timeout', p_idle_limit || 'ms', true);
  end if;
  select l.* into v_lease from "leasehold"."leases" l
    where l.name = p_name and l.fencing_token = p_token
    for key share;
  if found and v_lease.state = 'leased' and v_lease.locked_until > clock_timestamp() then
    perform "leasehold"."leases_outermost_1"('guard', l.xmin, l.xmax) from "leasehold"."leases" l where l.name = p_name;
    return;
  end if;
  raise exception 'the lease ''%'' is not held under the fencing token %', p_name, p_token
    using errcode = 'LH001', hint = 'Roll back: another holder may have the lease.';
end
$$;

-- Call it in the transaction that writes the resource. It fails with LH002 if a larger fencing token has written it. Writers
-- of a resource take turns until their transactions end. The token is kept when the resource is deleted.
create or replace function "leasehold"."leases_fence"(p_resource text, p_token numeric) returns void
language plpgsql as $$
declare
  v_seen numeric;
begin
  insert into "leasehold"."leases_fences" as f (resource, fencing_token) values (p_resource, p_token)
    on conflict (resource) do update set fencing_token = excluded.fencing_token
    where f.fencing_token < excluded.fencing_token;
  select f.fencing_token into v_seen from "leasehold"."leases_fences" f where f.resource = p_resource;
  if v_seen = p_token then
    perform "leasehold"."leases_outermost_1"('fence', f.xmin, f.xmax) from "leasehold"."leases_fences" f
      where f.resource = p_resource;
    return;
  end if;
  raise exception 'the fencing token % for ''%'' is older than %', p_token, p_resource, v_seen
    using errcode = 'LH002', detail = v_seen::text, hint = 'Roll back: another holder has the lease.';
end
$$;

-- The same for rows with a fencing token of their own, in the column p_column: it is raised in all rows whose columns have
-- the values of p_where, such as {"id": 7}. It fails with LH002 if one of them has a larger token. Returns how many there are.
create or replace function "leasehold"."leases_fence_rows"(
  p_table regclass, p_token numeric, p_where jsonb, p_column name default 'fencing_token'
) returns bigint
language plpgsql as $$
declare
  v_where text;
  v_count bigint;
  v_seen numeric;
begin
  if p_where is null or p_where = '{}' then
    raise exception 'p_where must name the rows to fence' using errcode = 'invalid_parameter_value';
  end if;
  select string_agg(
      case when e.value is null then format('t.%I is null', e.key) else format('t.%I = %L', e.key, e.value) end, ' and '
    ) into v_where from jsonb_each_text(p_where) e;
  execute format(
    'with locked as (select t.%1$I as seen from %2$s t where %3$s for update) select count(*), max(seen) from locked',
    p_column, p_table, v_where
  ) into v_count, v_seen;
  if v_seen > p_token then
    raise exception 'the fencing token % for rows of % is older than %', p_token, p_table, v_seen
      using errcode = 'LH002', detail = v_seen::text, hint = 'Roll back: another holder has the lease.';
  end if;
  execute format('update %2$s t set %1$I = $1 where %3$s and t.%1$I is distinct from $1', p_column, p_table, v_where)
    using p_token;
  -- The rows of views and foreign tables do not tell.
  if v_count > 0 and exists (select from pg_class c where c.oid = p_table and c.relkind in ('r', 'p')) then
    execute format('select "leasehold"."leases_outermost_1"(''fence'', t.xmin, t.xmax) from %s t where %s', p_table, v_where);
  end if;
  return v_count;
end
$$;
`
