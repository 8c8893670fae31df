import { relayedStores } from '../../../heartbeat-thread/test/support/relays.js'
import { describeAllRecipes } from '../support/all-recipes.js'
import { inHeartbeatThread } from '../support/in-heartbeat-thread.js'

const openRelayed = relayedStores()

describeAllRecipes((recipe) => inHeartbeatThread(recipe, openRelayed))
