import { type ReadWriteLawOptions, type ReadWriteUnderTest, readWriteLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { ReadWriteLease } from '../../src/index.js'
import { storesInVirtualTime } from '../support/store-subjects.js'

for (const store of storesInVirtualTime) {
  describeRecipeLaws<ReadWriteUnderTest, ReadWriteLawOptions>(
    {
      name: 'ReadWriteLease',
      store,
      create: ({ store: client, name, leaseOptions }, options) =>
        new ReadWriteLease(client, { ...leaseOptions, ...options, name }),
    },
    readWriteLaws,
  )
}
