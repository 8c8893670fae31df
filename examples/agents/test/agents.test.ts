import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '@leasehold/testing'
import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('three agents do each task once; the task of the one that is killed is done by another under a larger token', () => {
  expect(runExample('agents')).toEqual({
    status: 0,
    lines: [
      'docs: 1, login: 1, search: 1, tests: 1, types: 1, upload: 1',
      'the first claim is of berta, the agent that was killed',
      'another agent has done the task under a larger token: true',
      'a late push of the first one: rejected',
    ],
    stderr: '',
  })
})

it('the hook gives a commit the token of its lease, and leaves others alone', (test) => {
  const folder = temporaryFolder(test)
  const git = (args: readonly string[], env: Readonly<Record<string, string>> = {}): string =>
    execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      timeout: 10_000,
      env: { ...process.env, ...env },
    }).trim()
  git(['init', '-q'])
  const hook = join(folder, '.git', 'hooks', 'prepare-commit-msg')
  copyFileSync(fileURLToPath(new URL('../src/prepare-commit-msg.sh', import.meta.url)), hook)
  chmodSync(hook, 0o755)
  const commit = (env: Readonly<Record<string, string>>, ...how: readonly string[]): string => {
    git(['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', ...how], env)
    return git(['log', '-1', '--format=%(trailers:key=Fencing-Token,valueonly,separator=%x20)'])
  }
  expect(commit({ LEASEHOLD_FENCING_TOKEN: '1883098329941803008' }, '-m', 'Do login')).toBe('1883098329941803008')
  expect(commit({ LEASEHOLD_FENCING_TOKEN: '1883098329941803009' }, '--amend', '--no-edit')).toBe('1883098329941803009')
  expect(commit({ LEASEHOLD_FENCING_TOKEN: '' }, '-m', 'By hand')).toBe('')
})
