import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { filesBelow, root } from '../workspaces.js'

const page = readFileSync(join(root, 'docs/internals/guarantees.md'), 'utf8')
/** The rules, each with its text. */
const rules =
  page
    .split('\n## ', 1)[0]
    ?.split(/^\d+\. /m)
    .slice(1) ?? []

it('each safety rule names its test, and a check of the simulator', () => {
  const tests = filesBelow(join(root, 'packages/core/test/safety'), '.test.ts').map(
    (file) => file.split(/[\\/]/).at(-1) ?? '',
  )
  const named = rules.map((rule) => /\[(rule-\d+-[\w-]+\.test\.ts)\]/.exec(rule)?.[1])
  expect(named.toSorted()).toEqual(tests.toSorted())
  expect(named.map((name) => Number(name?.split('-')[1]))).toEqual(rules.map((_, place) => place + 1))
})

it('the checks that the rules name are those of the simulator', () => {
  const checks = readFileSync(join(root, 'docs/internals/simulation.md'), 'utf8')
  for (const rule of rules) {
    const named = [...(/In the simulator: (.*)\./.exec(rule)?.[1] ?? '').matchAll(/`([\w-]+)`/g)].map(
      ([, check]) => check,
    )
    expect(named.length, rule).toBeGreaterThan(0)
    for (const check of named) expect(checks).toContain(`\`${check}\``)
  }
})
