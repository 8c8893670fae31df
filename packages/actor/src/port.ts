import type { ActorLogic, ActorScope, AnyActorRef, AnyEventObject, Snapshot } from 'xstate'
import { isReserved } from './control-event.js'

type PortSnapshot = Snapshot<undefined> & { readonly stopChild: (child: AnyActorRef) => void }

/**
 * The worker's parent: hands what the worker sends to its parent (`sendParent`, `sendBack`) on to the guard's own.
 * Were the guard itself the worker's parent, that would come back to it as any other message, which it would forward
 * to the worker again, for ever: XState's events do not say who sent them.
 */
export const portLogic: ActorLogic<PortSnapshot, AnyEventObject> = {
  getInitialSnapshot: ({ stopChild }) => ({ status: 'active', output: undefined, error: undefined, stopChild }),
  transition: (snapshot, event, scope) => {
    if (!isReserved(event.type)) parentOfGuard(scope)?.send(event)
    // The guard has seen the end of the worker by watching it. Only now may the port stop: XState warns of words to
    // the dead, which these would be.
    else if (event.type.endsWith('.actor.worker')) scope.self.send({ type: 'xstate.stop' })
    return snapshot
  },
  getPersistedSnapshot: (snapshot) => snapshot,
}

function parentOfGuard({ self }: ActorScope<PortSnapshot, AnyEventObject>): AnyActorRef | undefined {
  return self._parent?._parent
}
