import { readFileSync, writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createVitest, type TestCase, type TestModule } from 'vitest/node'
import { type Edit, edited } from './bundle-with-edits.js'

/** A test to run, and the edit to run it with. Paths are absolute. */
export interface EditedRun {
  readonly edit: Edit
  readonly test: string
  /** A part of the full titles of the tests to run. */
  readonly name: string
}

export interface EditedRunEnd {
  /** How the named tests ended. */
  readonly states: readonly string[]
  /** Errors outside a test: in a hook, or in a module. */
  readonly errors: readonly string[]
  /** Why the tests are skipped here. */
  readonly skippedFor?: string | undefined
}

keepOutOfTheWay()

let edit: Edit | undefined

const conditions = ['@leasehold/source']

const vitest = await createVitest(
  'test',
  {
    config: false,
    root: fileURLToPath(new URL('../../', import.meta.url)),
    include: ['packages/*/test/**/*.test.ts'],
    pool: 'forks',
    maxConcurrency: 40,
    // A mutant may make a test hang, which then counts as red.
    testTimeout: 30_000,
    hookTimeout: 120_000,
    reporters: [{}],
    silent: true,
    watch: false,
  },
  {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    plugins: [
      {
        name: 'edit',
        enforce: 'pre',
        load: (id) =>
          edit !== undefined && id.split('?')[0] === edit.file ? edited(readFileSync(edit.file, 'utf8'), edit) : null,
      },
    ],
  },
)

/**
 * This process leads a session. Linux may share the processors among sessions, where a priority counts within one only, and one of
 * all of them: sched(7). So the session gets the priority of the process.
 */
function keepOutOfTheWay(): void {
  try {
    writeFileSync('/proc/self/autogroup', String(getPriority()))
  } catch {
    // Other systems, and a Linux without such groups, go by the priority itself.
  }
}

async function run(asked: EditedRun): Promise<EditedRunEnd> {
  const pattern = new RegExp(asked.name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  edit = asked.edit
  // Only the edited module is loaded anew; all others stay transformed from one run to the next.
  vitest.invalidateFile(edit.file)
  try {
    const test = vitest.getRootProject().createSpecification(asked.test, { testNamePattern: pattern })
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([test])
    const named = testModules.flatMap((module) => testsOf(module, asked.name))
    return {
      states: named.map((test) => test.result().state),
      skippedFor: named[0]?.meta().skippedFor,
      errors: [...testModules.flatMap(errorsOf), ...unhandledErrors].map((error) => String(Object(error).message)),
    }
  } finally {
    vitest.invalidateFile(edit.file)
    edit = undefined
  }
}

function testsOf(module: TestModule, name: string): TestCase[] {
  return [...module.children.allTests()].filter(({ fullName }) =>
    fullName.replaceAll(' > ', ' ').includes(name.replaceAll(' > ', ' ')),
  )
}

function errorsOf(module: TestModule): unknown[] {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
}

process.on('message', (asked: EditedRun) => {
  run(asked).then(
    (end) => process.send?.(end),
    (error: unknown) => process.send?.({ states: [], errors: [String(error)] } satisfies EditedRunEnd),
  )
})
process.once('disconnect', () => {
  void vitest.close().finally(() => process.exit())
})
