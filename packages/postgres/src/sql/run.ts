/** The way of all operations into the server. */
export const run = `
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
  for v_place in 0 .. jsonb_array_length(p_calls) - 1 loop
    v_call := p_calls -> v_place;
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
      v_answer := "leasehold"."leases_renew_2"(
        array(select jsonb_array_elements_text(v_call -> 1)), array(select jsonb_array_elements_text(v_call -> 2)),
        array(select jsonb_array_elements_text(v_call -> 3)::bigint)
      );
    elsif v_operation = 'release' then
      v_answer := "leasehold"."leases_release_2"(v_call ->> 1, v_call ->> 2, (v_call ->> 3)::json, (v_call ->> 4)::bigint);
    elsif v_operation = 'update' then
      v_answer := "leasehold"."leases_update_2"(v_call ->> 1, v_call ->> 2, (v_call ->> 3)::json, (v_call ->> 4)::bigint);
    elsif v_operation = 'read' then
      v_answer := "leasehold"."leases_read_1"(v_call ->> 1);
    elsif v_operation = 'change' then
      v_answer := "leasehold"."leases_change_1"(v_call ->> 1, v_call ->> 2, v_call ->> 3, v_call ->> 4);
    elsif v_operation = 'break' then
      v_answer := "leasehold"."leases_break_1"(v_call ->> 1, (v_call ->> 2)::bigint, v_call ->> 3, v_call ->> 4);
    elsif v_operation = 'raise' then
      v_answer := "leasehold"."leases_raise_2"(v_call ->> 1, v_call ->> 2, (v_call ->> 3)::bigint, (v_call ->> 4)::bigint);
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
`
