import { LeaseConfigurationError } from '@leasehold/core'
import type { AnyActorRef } from 'xstate'
import { GuardedActor } from './guarded-actor.js'
import { GuardedSnapshot } from './guarded-snapshot.js'

/**
 * Ends a guarded actor: the worker may finish its work (option `drain`), then it is stopped, the lease is released, and
 * the actor ends. New messages are dropped. Resolves when the release has ended, and never because of an error of the
 * worker or of the release: these are reported by the actor.
 *
 * If the actor has ended already, for example by `actor.stop()`, resolves when its release has ended. Rejects with a
 * `LeaseConfigurationError` if the actor is not a guarded actor.
 */
export async function resign(actor: AnyActorRef): Promise<void> {
  const snapshot: unknown = actor.getSnapshot()
  if (!GuardedSnapshot.isOne(snapshot)) {
    throw new LeaseConfigurationError(
      'resign needs a guarded actor: an actor whose logic was made by leaseGuarded(...), not its parent or its worker',
    )
  }
  const subject = GuardedSnapshot.subjectOf(snapshot)
  if (subject instanceof GuardedActor) await subject.resign()
}
