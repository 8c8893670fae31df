import { type SemaphoreLawOptions, type SemaphoreUnderTest, semaphoreLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../../core/test/thread/support/relays.js'
import { Semaphore } from '../../src/index.js'
import { inHeartbeatThread } from '../support/in-heartbeat-thread.js'

const semaphore = inHeartbeatThread<SemaphoreUnderTest, SemaphoreLawOptions>(
  {
    name: 'Semaphore',
    create: ({ store, name, leaseOptions }, options) => new Semaphore(store, { ...leaseOptions, ...options, name }),
  },
  relayedStores(),
)

describeRecipeLaws(semaphore, semaphoreLaws)
