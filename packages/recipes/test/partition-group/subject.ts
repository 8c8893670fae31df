import { PartitionGroup } from '@leasehold/recipes'
import type { PartitionGroupLawOptions, PartitionGroupUnderTest, RecipePlace } from '@leasehold/testkit/recipes'

/** For the laws: a worker of a group. */
export const partitionGroup = {
  name: 'PartitionGroup',
  create: ({ name, store, leaseOptions }: RecipePlace, options: PartitionGroupLawOptions): PartitionGroupUnderTest =>
    new PartitionGroup(store, { name, ...leaseOptions, ...options }),
}
