import { Once } from '@leasehold/recipes'
import { onceLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'

for (const store of storesInVirtualTime) {
  describeRecipeLaws(
    { name: 'Once', store, create: ({ store, leaseOptions }) => new Once(store, leaseOptions) },
    onceLaws,
  )
}
