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
import { GuardedActor } from './guarded-actor.js'
import {
  type GuardedSeed,
  GuardedSnapshot,
  type GuardState,
  type LeaseGuardedSnapshot,
  type Outcome,
  type PersistedGuardedActor,
} from './guarded-snapshot.js'
import { type LeaseGuardedOptions, planFrom } from './lease-guarded-options.js'
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
 * Makes actor logic that runs the worker only while it holds a lease. The actor acquires the lease first and stashes all
 * messages. After the grant, it starts the worker and forwards the stashed messages in order, then all later messages.
 * When the lease is lost, the worker is stopped inside `onLost`, and the actor ends with a `LeaseLostError` or acquires
 * again. When the actor ends, the lease is released after the worker has stopped. A grant that arrives after the end is
 * released.
 *
 * A message is forwarded only while `lease.checkLease()` returns `true`. Otherwise the message is stashed until the loss
 * is reported or `checkLease()` returns `true` again, which the actor checks with the next message and every
 * `retryInterval`.
 *
 * Throws a `LeaseConfigurationError` if an option is invalid.
 */
export function leaseGuarded<W extends AnyActorLogic>(
  worker: W,
  options: LeaseGuardedOptions<W>,
): LeaseGuardedLogic<W> {
  const plan = planFrom(worker, options)
  const create = (scope: AnyActorScope, seed: GuardedSeed, value: GuardState = 'acquiringLease', outcome?: Outcome) =>
    new GuardedActor(plan, scope, seed).snapshotIn(value, outcome) as LogicSnapshot
  const logic: ActorLogic<LogicSnapshot, AnyEventObject, unknown> = {
    config: statechart,
    getInitialSnapshot: (scope, input) => create(scope, { input }),
    // XState can start a stopped actor again. That must not acquire the lease.
    start: (snapshot) => {
      if (snapshot.status === 'active') GuardedSnapshot.subjectOf(snapshot).start()
    },
    transition: (snapshot, event) => {
      if (snapshot.status !== 'active') return snapshot
      return GuardedSnapshot.subjectOf(snapshot).transition(snapshot, event) as LogicSnapshot
    },
    getPersistedSnapshot: (snapshot, options) =>
      GuardedSnapshot.subjectOf(snapshot).persist(snapshot, options) as Snapshot<unknown>,
    restoreSnapshot: (persisted, scope) => {
      const { status, output, error, value, input, worker, stash } = persisted as PersistedGuardedActor
      if (status === 'active') return create(scope, { input, worker, stash })
      return create(scope, { input }, value, { status, output, error })
    },
  }
  // The logic only forwards values of the worker's types.
  return logic as unknown as LeaseGuardedLogic<W>
}

/** XState's `Snapshot` is a union with one type for each status. The class covers all of them. */
type LogicSnapshot = Snapshot<unknown> & GuardedSnapshot<GuardedActor>
