// #region hook
/** The hook `pre-receive` of the repository: the branch of a task takes no commit with an older token than its last one. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The token in the message of a commit; -1 for a commit without one, and for no commit. */
function tokenOf(commit: string): bigint {
  if (/^0+$/.test(commit)) return -1n
  const format = '--format=%(trailers:key=Fencing-Token,valueonly,separator=%x20)'
  const text = execFileSync('git', ['log', '-1', format, commit], { encoding: 'utf8', timeout: 10_000 }).trim()
  // A bigint: as a number, two tokens can become equal.
  return /^\d+$/.test(text) ? BigInt(text) : -1n
}

for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
  const [before = '', after = '', branch = ''] = line.split(' ')
  if (!branch.startsWith('refs/heads/task/')) continue
  const [last, token] = [tokenOf(before), tokenOf(after)]
  if (token >= 0n && token >= last) continue
  console.error(`${branch}: the token ${token} is missing or older than ${last}: the task was claimed by another agent`)
  process.exitCode = 1
}
// #endregion hook
