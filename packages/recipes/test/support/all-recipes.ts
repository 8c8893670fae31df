import type { StoreSubject } from '@leasehold/testkit'
import {
  allOfLaws,
  leaderElectionLaws,
  leaseManagerLaws,
  onceLaws,
  partitionGroupLaws,
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
import { scheduleOn } from '../schedule/subject.js'
import { semaphore } from '../semaphore/subject.js'

/** The laws of every recipe, on a kind of store. */
export function describeAllRecipes(store: StoreSubject): void {
  describeRecipeLaws({ ...jointUnderLaw, store }, allOfLaws)
  describeRecipeLaws({ ...leaderElection, store }, leaderElectionLaws)
  describeRecipeLaws({ ...managerUnderLaw, store }, leaseManagerLaws)
  describeRecipeLaws({ ...once, store }, onceLaws)
  describeRecipeLaws({ ...partitionGroup, store }, partitionGroupLaws)
  describeRecipeLaws({ ...readWriteLease, store }, readWriteLaws)
  describeRecipeLaws(scheduleOn(store), scheduleLaws)
  describeRecipeLaws({ ...semaphore, store }, semaphoreLaws)
}
