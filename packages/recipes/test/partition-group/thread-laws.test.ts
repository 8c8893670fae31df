import { partitionGroupLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../../core/test/thread/support/relays.js'
import { inHeartbeatThread } from '../support/in-heartbeat-thread.js'
import { partitionGroup } from './subject.js'

describeRecipeLaws(inHeartbeatThread(partitionGroup, relayedStores()), partitionGroupLaws)
