import { quorumOf } from '../../../redis-quorum/test/support/quorum-subject.js'
import { describeAllRecipes } from '../support/all-recipes.js'

describeAllRecipes((recipe) => ({ ...recipe, store: quorumOf(3) }))
