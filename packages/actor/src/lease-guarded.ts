import type {
  ActorLogic,
  AnyActorLogic,
  AnyActorScope,
  AnyEventObject,
  EmittedFrom,
  EventFromLogic,
  InputFrom,
  Snapshot,
} from 'xstate'
import { Guard, type GuardSeed } from './guard.js'
import { type LeaseGuardedOptions, planOf } from './guard-options.js'
import {
  GuardSnapshot,
  type GuardState,
  type LeaseGuardedSnapshot,
  type Outcome,
  type PersistedGuard,
} from './guard-snapshot.js'
import { statechart } from './statechart.js'

/** Actor logic with the events, input, output and emitted events of the worker. */
export type LeaseGuardedLogic<W extends AnyActorLogic> = ActorLogic<
  LeaseGuardedSnapshot<W>,
  EventFromLogic<W>,
  InputFrom<W>,
  AnyActorScope['system'],
  EmittedFrom<W>
>

/**
 * Actor logic that runs the worker only while it holds a lease. It acquires first and stashes every message; granted,
 * it starts the worker and hands on what was stashed, in order, then every message. When the lease is lost the worker
 * is stopped before the lease has finished telling, and the actor ends with a `LeaseLostError`, or acquires again.
 * However it ends, the lease is released once the worker has stopped; a grant that comes after the end is given back.
 *
 * A message is handed on only while `lease.checkLease()` is `true`. One that finds it `false` waits in the stash: until
 * the loss is told, or the lease is seen to be valid, which is looked at with the next message and every
 * `retryInterval`.
 *
 * Throws a `LeaseConfigurationError` where an option is wrong.
 */
export function leaseGuarded<W extends AnyActorLogic>(
  worker: W,
  options: LeaseGuardedOptions<W>,
): LeaseGuardedLogic<W> {
  const plan = planOf(worker, options)
  const create = (scope: AnyActorScope, seed: GuardSeed, value: GuardState = 'acquiringLease', outcome?: Outcome) =>
    asSnapshot(new Guard(plan, scope, seed).snapshotIn(value, outcome))
  const logic: ActorLogic<LogicSnapshot, AnyEventObject, unknown> = {
    config: statechart,
    getInitialSnapshot: (scope, input) => create(scope, { input }),
    // XState starts an actor that was stopped once more, when asked to: that must not acquire again.
    start: (snapshot) => {
      if (snapshot.status === 'active') GuardSnapshot.subjectOf(snapshot).start()
    },
    transition: (snapshot, event) => {
      if (snapshot.status !== 'active') return snapshot
      return asSnapshot(GuardSnapshot.subjectOf(snapshot).transition(snapshot, event))
    },
    getPersistedSnapshot: (snapshot, options) =>
      GuardSnapshot.subjectOf(snapshot).persist(snapshot, options) as Snapshot<unknown>,
    restoreSnapshot: (persisted, scope) => {
      const { status, output, error, value, input, worker, stash } = persisted as PersistedGuard
      if (status === 'active') return create(scope, { input, worker, stash })
      return create(scope, { input }, value, { status, output, error })
    },
  }
  // The worker's types stand for what passes through; the logic itself looks at none of it.
  return logic as unknown as LeaseGuardedLogic<W>
}

type LogicSnapshot = Snapshot<unknown> & GuardSnapshot<Guard>

/** XState writes a snapshot as a union of its four ends; the class has them as one. */
function asSnapshot(snapshot: GuardSnapshot<Guard>): LogicSnapshot {
  return snapshot as LogicSnapshot
}
