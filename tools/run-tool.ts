import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './workspaces.js'

/** Runs an installed command-line tool and shows its output. Returns whether it succeeded. */
export function runTool(tool: string, args: readonly string[], folder = root): boolean {
  return run(tool, args, folder, 'inherit').succeeded
}

/** Like {@link runTool}, but shows the output only on failure. */
export function runQuietTool(tool: string, args: readonly string[], folder = root): boolean {
  const { succeeded, output } = run(tool, args, folder, 'pipe')
  if (!succeeded) console.log(output)
  return succeeded
}

function run(tool: string, args: readonly string[], cwd: string, stdio: 'inherit' | 'pipe') {
  const path = join(root, 'node_modules', '.bin', tool)
  const { status, error, stdout, stderr } = spawnSync(path, args, { cwd, stdio, encoding: 'utf8' })
  if (error !== undefined) console.error(error.message)
  return { succeeded: status === 0, output: `${stdout ?? ''}${stderr ?? ''}` }
}
