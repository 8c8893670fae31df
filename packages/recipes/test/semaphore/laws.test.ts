import { type SemaphoreLawOptions, type SemaphoreUnderTest, semaphoreLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { Semaphore } from '../../src/index.js'
import { storesInVirtualTime } from '../support/store-subjects.js'

for (const store of storesInVirtualTime) {
  describeRecipeLaws<SemaphoreUnderTest, SemaphoreLawOptions>(
    {
      name: 'Semaphore',
      store,
      create: ({ store: client, name, leaseOptions }, options) =>
        new Semaphore(client, { ...leaseOptions, ...options, name }),
    },
    semaphoreLaws,
  )
}
