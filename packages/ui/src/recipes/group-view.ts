import { isLocked, type LeaseStore } from '@leasehold/core'
import { groupMember, seenMember } from '@leasehold/recipes/internal'
import type { GroupView } from '../protocol.js'
import { type FoundPlace, type FoundRecipe, metadataFacts, readable } from './found-recipe.js'
import type { ViewSource } from './kept-views.js'

/** The view of a partition group. Where nobody is a member now, its number of partitions is that of the members before. */
export function groupView({ recipe: { name }, places }: FoundRecipe, store: LeaseStore): ViewSource<GroupView> {
  const sorted = places.toSorted((one, other) => one.place - other.place)
  return {
    name,
    facts: sorted.flatMap(({ place, record }) => [place, isLocked(record), record.owner, ...metadataFacts(record)]),
    make: () => {
      const held = sorted.filter(({ record }) => isLocked(record))
      const members = membersIn(held, store)
      const counted = members.length > 0 ? members : membersIn(sorted, store)
      return {
        view: {
          name,
          partitions: Math.max(0, ...counted.map(({ partitions }) => partitions)),
          members: members.map(({ partitions: _, ...member }) => member),
        },
      }
    },
  }
}

function membersIn(places: readonly FoundPlace[], store: LeaseStore) {
  return places
    .map(({ place, record }) => readable(() => groupMember(seenMember(place, record, store, 0))))
    .filter((member) => member !== undefined)
}
