import { describe, it } from 'vitest'
import { limitOf } from '../../../testkit/src/laws/families.js'
import { checkRecipeLaw, type RecipeLaw, type RecipeSubject } from './recipe-trial.js'

/** A test for each law of a recipe. Laws that the store cannot run are skipped, with the reason. */
export function describeRecipeLaws<Recipe, Options>(
  subject: RecipeSubject<Recipe, Options>,
  laws: readonly RecipeLaw<Recipe, Options>[],
): void {
  const { name, store } = subject
  const group = store.time === 'real' ? describe.concurrent : describe
  group(`${name} on ${store.name}`, () => {
    for (const law of laws) {
      it(law.name, limitOf(store), async ({ skip }) => {
        const outcome = await checkRecipeLaw(law, subject)
        if (!outcome.kept) skip(outcome.skipped)
      })
    }
  })
}
