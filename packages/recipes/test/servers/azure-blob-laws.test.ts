import { afterAll } from 'vitest'
import { Azurite } from '../../../azure-blob/test/support/azurite.js'
import { blobsOn } from '../../../azure-blob/test/support/subjects.js'
import { describeAllRecipes } from '../support/all-recipes.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

// A grant takes several requests, and waiters ask at intervals: the turnstile does not turn often enough for one of these.
const without = ['attempts without a wait that come at the same time get all free permits']
describeAllRecipes((recipe) => ({ ...recipe, store: blobsOn(azurite) }), without)
