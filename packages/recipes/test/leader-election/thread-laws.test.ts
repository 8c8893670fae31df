import { leaderElectionLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../../core/test/thread/support/relays.js'
import { inHeartbeatThread } from '../support/in-heartbeat-thread.js'
import { leaderElection } from './subject.js'

describeRecipeLaws(inHeartbeatThread(leaderElection, relayedStores()), leaderElectionLaws)
