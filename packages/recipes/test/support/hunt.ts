import { type Scenario, SimulationError, simulate } from '@leasehold/simulator'
import type { StoreSubject } from '@leasehold/testkit'
import { checkRecipeLaw, type RecipeLaw, type RecipeSubject } from '../laws/recipe-trial.js'

/** Within so many schedules a bug has to be found. */
const SCHEDULES = 1_500

/** The material for a hunt for a deliberate bug of one recipe. */
export interface HuntedRecipe<Recipe, Options> {
  readonly laws: readonly RecipeLaw<Recipe, Options>[]
  readonly subjects: readonly RecipeSubject<Recipe, Options>[]
  readonly scenario: Scenario
}

/** A subject for each store. */
export function onEach<Recipe, Options>(
  stores: readonly StoreSubject[],
  recipe: Omit<RecipeSubject<Recipe, Options>, 'store'>,
): readonly RecipeSubject<Recipe, Options>[] {
  return stores.map((store) => ({ ...recipe, store }))
}

/**
 * Runs in a process of its own, bundled with the bug. Prints the names of the laws that the bug breaks, or the check of the
 * simulator that it breaks first, as JSON. If the bug breaks the law that is expected to catch it, no other law is checked.
 */
export async function hunt<Recipe, Options>(recipe: HuntedRecipe<Recipe, Options>): Promise<void> {
  // A bug can leave unhandled rejections behind.
  process.on('unhandledRejection', () => {})
  // Refused and failed calls are a part of most schedules, and nobody reads their stacks.
  Error.stackTraceLimit = 0
  const [, , how, law] = process.argv
  const caughtBy = how === 'laws' ? await brokenLaws(recipe, law) : await brokenCheck(recipe.scenario)
  process.stdout.write(JSON.stringify(caughtBy), () => process.exit())
}

/** The expected law, if it is broken; otherwise every law that is. */
async function brokenLaws<Recipe, Options>(
  { laws, subjects }: HuntedRecipe<Recipe, Options>,
  expected: string | undefined,
): Promise<string[]> {
  const broken = new Set<string>()
  const check = async (some: typeof laws): Promise<void> => {
    for (const subject of subjects) {
      for (const law of some) await checkRecipeLaw(law, subject).catch(() => broken.add(law.name))
    }
  }
  await check(laws.filter(({ name }) => name === expected))
  if (broken.size === 0) await check(laws.filter(({ name }) => name !== expected))
  return [...broken]
}

async function brokenCheck(workload: Scenario): Promise<string[]> {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    try {
      await simulate({ seed, workload })
    } catch (error) {
      if (error instanceof SimulationError) return [error.check]
      throw error
    }
  }
  return []
}
