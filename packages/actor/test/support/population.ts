import {
  type ActorLogic,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyEventObject,
  createActor,
  type Snapshot,
} from 'xstate'

/** A clock that stands still, with constant cost per timer. */
class StandingClock {
  readonly #timers = new Map<number, () => void>()
  #armed = 0

  get pending(): number {
    return this.#timers.size
  }

  setTimeout(task: () => void): number {
    this.#armed += 1
    this.#timers.set(this.#armed, task)
    return this.#armed
  }

  clearTimeout(timer: number): void {
    this.#timers.delete(timer)
  }
}

export interface Population {
  readonly clock: StandingClock
  readonly members: readonly AnyActorRef[]
  readonly stopAll: () => void
}

type Root = Snapshot<undefined> & { readonly stopChild: (child: AnyActorRef) => void }

/**
 * Starts many actors in one system, under a minimal root, because a machine would take more memory. `realTime` uses
 * XState's own clock, whose timers take more memory.
 */
export function populate(logic: AnyActorLogic, count: number, { realTime = false } = {}): Population {
  const rootLogic: ActorLogic<Root, AnyEventObject> = {
    getInitialSnapshot: ({ stopChild }) => ({ status: 'active', output: undefined, error: undefined, stopChild }),
    transition: (snapshot) => snapshot,
    getPersistedSnapshot: (snapshot) => snapshot,
  }
  const clock = new StandingClock()
  const root = createActor(rootLogic, realTime ? {} : { clock }).start()
  const members: AnyActorRef[] = []
  for (let index = 0; index < count; index += 1) {
    const member = createActor(logic, { parent: root })
    member.start()
    members.push(member)
  }
  return {
    clock,
    members,
    stopAll: () => {
      for (const member of members) root.getSnapshot().stopChild(member)
    },
  }
}
