import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './workspaces.js'

/** Runs an installed command-line tool with its output shown, and tells whether it ended well. */
export function runTool(tool: string, args: readonly string[], folder = root): boolean {
  return run(tool, args, folder, 'inherit').ended
}

/** The same, but what the tool says is only shown where it did not end well. */
export function runQuietTool(tool: string, args: readonly string[], folder = root): boolean {
  const { ended, said } = run(tool, args, folder, 'pipe')
  if (!ended) console.log(said)
  return ended
}

function run(tool: string, args: readonly string[], cwd: string, stdio: 'inherit' | 'pipe') {
  const path = join(root, 'node_modules', '.bin', tool)
  const { status, error, stdout, stderr } = spawnSync(path, args, { cwd, stdio, encoding: 'utf8' })
  if (error !== undefined) console.error(error.message)
  return { ended: status === 0, said: `${stdout ?? ''}${stderr ?? ''}` }
}
