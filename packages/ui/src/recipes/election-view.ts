import type { LeaseStore } from '@leasehold/core'
import { advertisedIn, inOrder, leaderOf } from '@leasehold/recipes/internal'
import type { ElectionView } from '../protocol.js'
import { type FoundRecipe, readable } from './found-recipe.js'
import type { ViewSource } from './kept-views.js'

/** The view of an election. */
export function electionView(
  { recipe: { name }, record, places }: FoundRecipe,
  store: LeaseStore,
): ViewSource<ElectionView> {
  const leader = readable(() => leaderOf(record, name, store))
  const candidates = places
    .map((place) => readable(() => advertisedIn(place.record)))
    .filter((candidate) => candidate !== undefined)
    .sort(inOrder)
  const { grantedAt, waiters } = record ?? {}
  return {
    name,
    facts: [
      leader?.owner,
      leader?.term,
      leader && grantedAt,
      waiters,
      ...candidates.flatMap(({ owner, rank, isReady }) => [owner, rank, isReady]),
    ],
    make: () => ({
      view: {
        name,
        ...(leader === undefined ? {} : { leader: leader.owner, term: String(leader.term) }),
        ...(leader === undefined || grantedAt === undefined ? {} : { since: grantedAt }),
        ...(waiters === undefined ? {} : { waiters }),
        candidates: candidates.map(({ owner, rank, isReady }) => ({ owner, rank, isReady })),
      },
    }),
  }
}
