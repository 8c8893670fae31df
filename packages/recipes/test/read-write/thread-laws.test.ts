import { type ReadWriteLawOptions, type ReadWriteUnderTest, readWriteLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../../core/test/thread/support/relays.js'
import { ReadWriteLease } from '../../src/index.js'
import { inHeartbeatThread } from '../support/in-heartbeat-thread.js'

const readWrite = inHeartbeatThread<ReadWriteUnderTest, ReadWriteLawOptions>(
  {
    name: 'ReadWriteLease',
    create: ({ store, name, leaseOptions }, options) =>
      new ReadWriteLease(store, { ...leaseOptions, ...options, name }),
  },
  relayedStores(),
)

describeRecipeLaws(readWrite, readWriteLaws)
