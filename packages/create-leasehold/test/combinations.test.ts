import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from '@leasehold/testing'
import { afterAll, expect, it } from 'vitest'
import { recipes, stores } from '../src/choices.js'
import { linkPackages, project, root } from './support/project.js'

const checkTypes = fileURLToPath(new URL('support/check-types.mjs', import.meta.url))

const ends: (() => void)[] = []
const folder = temporaryFolder({ onTestFinished: (end) => void ends.push(end as () => void) })
afterAll(() => ends.forEach((end) => void end()))

linkPackages(folder)
const projects = stores.flatMap((store) => recipes.map((recipe) => project(folder, store, recipe)))

/** Runs a program in the folder of the projects, which see the packages as they were built. */
async function node(...args: readonly string[]) {
  const options = { cwd: folder, timeout: 100_000, killSignal: 'SIGKILL' } as const
  const ended = await promisify(execFile)(process.execPath, args, options).catch((error) => error)
  return ended as { readonly stdout: string; readonly stderr: string; readonly code?: number }
}

it('every service passes the types of its comments, as strictly as this repository', async () => {
  const compilerOptions = {
    ...{ composite: false, declaration: false, declarationMap: false, emitDeclarationOnly: false, noEmit: true },
    ...{ allowJs: true, checkJs: true, typeRoots: [join(root, 'node_modules', '@types')] },
  }
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions,
    include: projects.map((one) => `${one}/*/*`),
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { stdout, stderr } = await node(checkTypes, join(folder, 'tsconfig.json'))
  // Each project has main, service, store, probes, contract, fleet and test.
  expect(stdout + stderr).toBe(`${7 * projects.length} files\n`)
})

it("every service passes its own tests, on Node's test runner", async () => {
  // In one process: it loads the packages once for all of them.
  const tests = projects.map((one) => `import './${relative(folder, one)}/test/service.test.js'\n`)
  writeFileSync(join(folder, 'all.mjs'), tests.join(''))
  const { stdout, stderr, code } = await node('--test-reporter=tap', 'all.mjs')
  expect(stderr).toBe('')
  expect(stdout).not.toMatch(/^not ok[\s\S]*/m)
  expect(stdout).toMatch(new RegExp(`^# pass ${2 * projects.length}$`, 'm'))
  expect(code ?? 0).toBe(0)
})
