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
  const candidates = places
    .map((place) => readable(() => advertisedIn(place.record)))
    .filter((candidate) => candidate !== undefined)
    .sort(inOrder)
  const facts: unknown[] = [record?.state, record?.owner, record?.fencingToken, record?.grantedAt, record?.waiters]
  for (const { owner, rank, isReady } of candidates) facts.push(owner, rank, isReady)
  return {
    name,
    facts,
    make: () => {
      const { grantedAt, waiters } = record ?? {}
      const leader = leaderOf(record, name, store)
      const view = {
        name,
        ...(leader === undefined ? {} : { leader: leader.owner, term: String(leader.term) }),
        ...(leader === undefined || grantedAt === undefined ? {} : { since: grantedAt }),
        ...(waiters === undefined ? {} : { waiters }),
        candidates: candidates.map(({ owner, rank, isReady }) => ({ owner, rank, isReady })),
      }
      return { view }
    },
  }
}
