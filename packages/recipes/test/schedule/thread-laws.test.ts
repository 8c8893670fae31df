import { memorySubject } from '@leasehold/testing/memory-subject'
import { scheduleLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../../core/test/thread/support/relays.js'
import { inHeartbeatThread } from '../support/in-heartbeat-thread.js'
import { scheduleOn } from './schedule-subject.js'

describeRecipeLaws(inHeartbeatThread(scheduleOn(memorySubject), relayedStores()), scheduleLaws)
