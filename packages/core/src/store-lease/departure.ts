import type { ReleaseResult } from '../engine/engine-effect.js'
import type { EngineEvent, EventOf } from '../engine/engine-event.js'
import type { LeaseFamily } from '../parent/lease-family.js'
import type { Clock } from '../time/clock.js'
import { Deferred } from '../time/deferred.js'
import { keepAlive } from '../time/keep-alive.js'

/** The release or the hand-off of a grant: at most one is under way, and the process stays alive until it has ended. */
export class Departure {
  readonly #dispatch: (event: EngineEvent) => void
  readonly #clock: Clock
  #left: Deferred<ReleaseResult> | undefined
  #endKeeping: (() => void) | undefined

  constructor(dispatch: (event: EngineEvent) => void, clock: Clock) {
    this.#dispatch = dispatch
    this.#clock = clock
  }

  /** The result of the release or hand-off that is under way, if there is one. */
  get underWay(): Promise<ReleaseResult> | undefined {
    return this.#left?.promise
  }

  /** Ends the validity of the grant at once. The children are released before it. */
  begin(
    how: EventOf<'release' | 'hand-off'>,
    grantId: string | undefined,
    family: LeaseFamily | undefined,
  ): Promise<ReleaseResult> {
    const left = new Deferred<ReleaseResult>()
    this.#left = left
    this.#endKeeping ??= keepAlive(this.#clock)
    const hasChildren = family?.hasChildren === true
    this.#dispatch(hasChildren ? { ...how, hasChildren } : how)
    if (hasChildren) {
      void family.releaseChildren().then(() => this.#dispatch({ type: 'children-released', grantId }))
    }
    return left.promise
  }

  end(result: ReleaseResult): void {
    this.#endKeeping?.()
    this.#endKeeping = undefined
    this.#left?.resolve(result)
    this.#left = undefined
  }
}
