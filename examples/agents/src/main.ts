/** Three agents work on one repository; one is killed in the middle of a task. Exits 0 if each task was done once. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { git, TaskBranch } from './task-branch.js'

/** The longest time that the agents may take, in milliseconds. */
const LONGEST = 80_000
const TASKS = ['docs', 'login', 'search', 'tests', 'types', 'upload']

const folder = mkdtempSync(join(tmpdir(), 'leasehold-agents-'))
const repository = join(folder, 'repository.git')
const agents: ChildProcess[] = []

/** A bare repository with one commit, and the hook. */
async function createRepository(): Promise<void> {
  await git(folder, ['init', '-q', '--bare', '--initial-branch', 'main', repository])
  const tree = await git(repository, ['hash-object', '-t', 'tree', '-w', '/dev/null'])
  const author = ['-c', 'user.name=demo', '-c', 'user.email=demo@example.org']
  const commit = await git(repository, [...author, 'commit-tree', '-m', 'Begin', tree])
  await git(repository, ['update-ref', 'refs/heads/main', commit])
  const hook = join(repository, 'hooks', 'pre-receive')
  const program = fileURLToPath(new URL('./pre-receive.ts', import.meta.url))
  writeFileSync(hook, `#!/bin/sh\nexec "${process.execPath}" --import "${import.meta.resolve('tsx')}" "${program}"\n`)
  chmodSync(hook, 0o755)
}

function start(agent: string, ...hangs: readonly string[]): ChildProcess {
  const program = fileURLToPath(new URL('./agent.ts', import.meta.url))
  const child = fork(program, [folder, agent, TASKS.join(','), ...hangs])
  agents.push(child)
  return child
}

/** The messages of the commits of a task, the oldest first, with their authors and tokens. */
async function history(task: string): Promise<{ message: string; agent: string; token: bigint }[]> {
  const format = '--format=%s|%an|%(trailers:key=Fencing-Token,valueonly,separator=%x20)'
  const lines = (await git(repository, ['log', '--reverse', format, `main..task/${task}`])).split('\n')
  return lines.map((line) => {
    const [message = '', agent = '', token = ''] = line.split('|')
    return { message, agent, token: BigInt(token) }
  })
}

/** The agent that was killed had only just been slow: its work arrives now. Resolves with whether it was taken. */
async function pushLate(task: string, token: bigint): Promise<boolean> {
  const branch = new TaskBranch(repository, task, { agent: 'berta', token })
  writeFileSync(join(branch.folder, `${task}.txt`), 'by berta\n')
  return await branch.push(`Do ${task}`, ['--force']).then(
    () => true,
    () => false,
  )
}

async function demo(): Promise<boolean> {
  await createRepository()
  const berta = start('berta', 'hangs')
  const [claim] = (await once(berta, 'message')) as [{ readonly task: string; readonly token: string }]
  const others = [start('anna'), start('carla')]
  await Promise.all(others.map((agent) => once(agent, 'message')))
  berta.kill('SIGKILL')
  await Promise.all(others.map(async (agent) => agent.exitCode ?? (await once(agent, 'exit'))))

  const counts = new Map<string, number>()
  for (const task of TASKS) {
    const done = (await history(task)).filter(({ message }) => message === `Do ${task}`)
    counts.set(task, done.length)
  }
  console.log([...counts].map(([task, count]) => `${task}: ${count}`).join(', '))
  const [first, ...later] = await history(claim.task)
  console.log(`the first claim is of ${first?.agent}, the agent that was killed`)
  const isLarger =
    later.length === 2 && later.every(({ token, agent }) => token > BigInt(claim.token) && agent !== 'berta')
  console.log(`another agent has done the task under a larger token: ${isLarger}`)
  const wasTaken = await pushLate(claim.task, BigInt(claim.token))
  console.log(`a late push of the first one: ${wasTaken ? 'taken' : 'rejected'}`)
  return [...counts.values()].every((count) => count === 1) && isLarger && !wasTaken
}

const timer = setTimeout(() => {
  for (const agent of agents) agent.kill('SIGKILL')
}, LONGEST)
try {
  process.exitCode = (await demo()) ? 0 : 1
} finally {
  clearTimeout(timer)
  for (const agent of agents) agent.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
