import { allOfLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../../core/test/thread/support/relays.js'
import { inHeartbeatThread } from '../support/in-heartbeat-thread.js'
import { jointUnderLaw } from './under-law.js'

describeRecipeLaws(inHeartbeatThread(jointUnderLaw, relayedStores()), allOfLaws)
