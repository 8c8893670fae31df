import {
  allOfLaws,
  leaderElectionLaws,
  leaseManagerLaws,
  onceLaws,
  partitionGroupLaws,
  type RecipeSubject,
  readWriteLaws,
  scheduleLaws,
  semaphoreLaws,
} from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { jointUnderLaw } from '../all-of/subject.js'
import { leaderElection } from '../leader-election/subject.js'
import { managerUnderLaw } from '../lease-manager/subject.js'
import { once } from '../once/subject.js'
import { partitionGroup } from '../partition-group/subject.js'
import { readWriteLease } from '../read-write/subject.js'
import { schedule } from '../schedule/subject.js'
import { semaphore } from '../semaphore/subject.js'

/** The laws of every recipe, on the stores that `over` gives to it. */
export function describeAllRecipes(
  over: <R, O>(recipe: Omit<RecipeSubject<R, O>, 'store'>) => RecipeSubject<R, O>,
): void {
  describeRecipeLaws(over(jointUnderLaw), allOfLaws)
  describeRecipeLaws(over(leaderElection), leaderElectionLaws)
  describeRecipeLaws(over(managerUnderLaw), leaseManagerLaws)
  describeRecipeLaws(over(once), onceLaws)
  describeRecipeLaws(over(partitionGroup), partitionGroupLaws)
  describeRecipeLaws(over(readWriteLease), readWriteLaws)
  describeRecipeLaws(over(schedule), scheduleLaws)
  describeRecipeLaws(over(semaphore), semaphoreLaws)
}
