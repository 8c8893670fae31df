import { PartitionGroup } from '@leasehold/recipes'
import type { PartitionGroupLawOptions, PartitionGroupUnderTest } from '../laws/partition-group.js'
import type { RecipePlace } from '../laws/recipe-trial.js'

/** For the laws: a worker of a group. */
export const partitionGroup = {
  name: 'PartitionGroup',
  create: ({ name, store, leaseOptions }: RecipePlace, options: PartitionGroupLawOptions): PartitionGroupUnderTest =>
    new PartitionGroup(store, { name, ...leaseOptions, ...options }),
}
