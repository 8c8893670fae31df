// For the other packages of this repository, of the same version. Nothing here is a part of the API.
import type { Clock, LeaseStore, Logger } from '@leasehold/core'
import type { AbortableCall } from '@leasehold/core/store'
import { type RecipeEvents, StartedRecipe } from './recipe.js'
import type { StartedRecipeOptions } from './recipe-options.js'

export { advertisedIn, electionOf, inOrder } from './leader-election/candidates.js'
export { leaderOf } from './leader-election/leader.js'
export { groupMember, groupOf, seenMember } from './partition-group/group-member.js'
export { placeIn } from './places.js'
export { leaseOptionsOf, startedRecipeOptionNames } from './recipe-options.js'
export { isRecordKind, recipeOf } from './record-kind.js'
export { scheduleOf } from './schedule/list-schedules.js'
export { type ScheduleRecords, statusOf } from './schedule/schedule-status.js'
export { isStaying, isWriting, type SeenTurnstile, turnstileIn } from './slots/turnstile-record.js'
export { endsWithin } from './waiting.js'

/** A recipe of another package: the declarations of this one show it what is internal for users. */
export abstract class OuterRecipe<
  Events extends RecipeEvents & Record<keyof Events, unknown[]> = RecipeEvents,
> extends StartedRecipe<Events> {
  declare protected readonly clock: Clock
  declare protected readonly logger: Logger
  declare protected readonly stopTimeout: number
  declare protected readonly stopping: AbortableCall
  declare protected readonly keepAlive: boolean
  declare protected running: Promise<void> | undefined
  declare protected readonly report: (error: unknown, message?: string) => void
  declare protected readonly reportLine: (line: string, error?: unknown) => void

  protected constructor(kind: string, store: LeaseStore, options: StartedRecipeOptions) {
    super(kind, store, options)
  }

  protected override throwIfStopped(): void {
    super.throwIfStopped()
  }

  protected override emit<E extends keyof Events & string>(event: E, ...args: Events[E]): void {
    super.emit(event, ...args)
  }

  /** Acts until `stopping` is aborted. Never rejects. */
  protected abstract override act(): Promise<void>

  /** Ends the works and the leases, after `stopping` was aborted. */
  protected abstract override end(timeout: number): Promise<void>
}
