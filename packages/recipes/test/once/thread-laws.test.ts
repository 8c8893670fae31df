import { Once } from '@leasehold/recipes'
import { onceLaws, type RecipePlace } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { relayedStores } from '../../../core/test/thread/support/relays.js'
import { inHeartbeatThread } from '../support/in-heartbeat-thread.js'

const once = { name: 'Once', create: ({ store, leaseOptions }: RecipePlace) => new Once(store, leaseOptions) }

describeRecipeLaws(inHeartbeatThread(once, relayedStores()), onceLaws)
