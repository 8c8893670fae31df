import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The text that git prints. Rejects if git fails, and when the signal aborts. */
export async function git(folder: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  const { stdout } = await run('git', ['-C', folder, ...args], { timeout: 30_000, ...(signal && { signal }) })
  return stdout.trim()
}

/** The branch of a task, for one claim on it. Each claim has a worktree of its own. */
export class TaskBranch {
  readonly folder: string
  readonly #repository: string
  readonly #task: string
  readonly #agent: string
  readonly #token: bigint
  readonly #signal: AbortSignal | undefined

  constructor(repository: string, task: string, claim: { agent: string; token: bigint; signal?: AbortSignal }) {
    this.#repository = repository
    this.#task = task
    this.#agent = claim.agent
    this.#token = claim.token
    this.#signal = claim.signal
    // The token is in the name, so that the worktree of an agent that was killed does not stop the next one.
    this.folder = join(repository, '..', `${task}-${claim.token}`)
  }

  // #region claim
  /** Takes the branch over: from here on, the repository rejects commits of earlier claims. */
  async open(): Promise<void> {
    const branch = `refs/heads/task/${this.#task}`
    const isNew = (await git(this.#repository, ['for-each-ref', branch], this.#signal)) === ''
    const base = isNew ? 'main' : branch
    // Detached, because git lets only one worktree have a branch.
    await git(this.#repository, ['worktree', 'add', '--detach', this.folder, base], this.#signal)
    await this.push(`Claim ${this.#task}`)
  }

  /** Commits what is in the worktree, with the token, and pushes it. */
  async push(message: string, how: readonly string[] = []): Promise<void> {
    const { name, email } = { name: `user.name=${this.#agent}`, email: `user.email=${this.#agent}@example.org` }
    const trailer = `Fencing-Token: ${this.#token}`
    await git(this.folder, ['add', '--all'], this.#signal)
    await git(
      this.folder,
      ['-c', name, '-c', email, 'commit', '-q', '--allow-empty', '-m', message, '--trailer', trailer],
      this.#signal,
    )
    await git(this.folder, ['push', '-q', ...how, this.#repository, `HEAD:refs/heads/task/${this.#task}`], this.#signal)
  }
  // #endregion claim

  async close(): Promise<void> {
    if (existsSync(this.folder)) await git(this.#repository, ['worktree', 'remove', '--force', this.folder])
  }
}
