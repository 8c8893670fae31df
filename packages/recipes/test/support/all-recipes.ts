import { jointUnderLaw } from '../all-of/subject.js'
import { allOfLaws } from '../laws/all-of.js'
import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { leaderElectionLaws } from '../laws/leader-election.js'
import { leaseManagerLaws } from '../laws/lease-manager.js'
import { lockManagerLaws } from '../laws/lock-manager.js'
import { onceLaws } from '../laws/once.js'
import { partitionGroupLaws } from '../laws/partition-group.js'
import { readWriteLaws } from '../laws/read-write.js'
import type { RecipeLaw, RecipeSubject } from '../laws/recipe-trial.js'
import { scheduleLaws } from '../laws/schedule.js'
import { semaphoreLaws } from '../laws/semaphore.js'
import { singleFlightLaws } from '../laws/single-flight.js'
import { leaderElection } from '../leader-election/subject.js'
import { managerUnderLaw } from '../lease-manager/subject.js'
import { lockManager } from '../lock-manager/subject.js'
import { once } from '../once/subject.js'
import { partitionGroup } from '../partition-group/subject.js'
import { readWriteLease } from '../read-write/subject.js'
import { schedule } from '../schedule/subject.js'
import { semaphore } from '../semaphore/subject.js'
import { singleFlight } from '../single-flight/subject.js'

/** The laws of every recipe but those with the names in `without`, on the stores that `over` gives to it. */
export function describeAllRecipes(
  over: <R, O>(recipe: Omit<RecipeSubject<R, O>, 'store'>) => RecipeSubject<R, O>,
  without: readonly string[] = [],
): void {
  const describeLaws = <R, O>(recipe: Omit<RecipeSubject<R, O>, 'store'>, laws: readonly RecipeLaw<R, O>[]): void =>
    describeRecipeLaws(
      over(recipe),
      laws.filter(({ name }) => !without.includes(name)),
    )
  // In real time, the longest begin first: otherwise the others end before them.
  describeLaws(schedule, scheduleLaws)
  describeLaws(lockManager, lockManagerLaws)
  describeLaws(leaderElection, leaderElectionLaws)
  describeLaws(managerUnderLaw, leaseManagerLaws)
  describeLaws(partitionGroup, partitionGroupLaws)
  describeLaws(jointUnderLaw, allOfLaws)
  describeLaws(once, onceLaws)
  describeLaws(readWriteLease, readWriteLaws)
  describeLaws(semaphore, semaphoreLaws)
  describeLaws(singleFlight, singleFlightLaws)
}
