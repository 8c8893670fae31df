import { isLocked } from '@leasehold/core'
import { isStaying, isWriting, type SeenTurnstile, turnstileIn } from '@leasehold/recipes/internal'
import type { SemaphoreView } from '../protocol.js'
import { type FoundPlace, type FoundRecipe, readable } from './found-recipe.js'
import type { ViewSource } from './kept-views.js'

/** The view of a semaphore, or of a read-write lease; `undefined` if the record does not say how many permits there are. */
export function semaphoreView({
  recipe: { name },
  record,
  places,
}: FoundRecipe): ViewSource<SemaphoreView> | undefined {
  const turnstile = record && readable(() => turnstileIn(record))
  if (record === undefined || turnstile === undefined) return undefined
  const held = heldIn(places, turnstile)
  const isHeld = isLocked(record)
  const isWriter =
    isHeld && held.length === 0 && turnstile.recipe === 'read-write-lease' && record.owner !== '' && isWriting(record)
  const isWaiting = isHeld && !isWriter && isStaying(record)
  // The first one that waits has the turnstile already, so that it is in no queue.
  const waiters = record.waiters === undefined ? undefined : record.waiters + (isWaiting ? 1 : 0)
  const writer = isWriter ? record.owner : undefined
  return {
    name,
    facts: [
      turnstile.recipe,
      turnstile.count,
      waiters,
      writer,
      ...held.flatMap(({ place, record: { owner, fencingToken, grantedAt } }) => [
        place,
        owner,
        fencingToken,
        grantedAt,
      ]),
    ],
    make: () => ({
      view: {
        name,
        kind: turnstile.recipe,
        permits: turnstile.count,
        inUse: held.map(({ place: slot, record: { owner, fencingToken, grantedAt } }) => ({
          slot,
          owner,
          token: String(fencingToken),
          ...(grantedAt === undefined ? {} : { since: grantedAt }),
        })),
        ...(waiters === undefined ? {} : { waiters }),
        ...(writer === undefined ? {} : { writer }),
      },
    }),
  }
}

/** The slots that are held, also those that a larger number left over. */
function heldIn(places: readonly FoundPlace[], { slots }: SeenTurnstile): readonly FoundPlace[] {
  return places
    .filter(({ place, record }) => place < slots && isLocked(record))
    .sort((one, other) => one.place - other.place)
}
