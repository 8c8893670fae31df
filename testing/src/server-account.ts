import { readFileSync } from 'node:fs'

/** A user of this machine, by number. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Preferred in this order. */
const NAMES = ['postgres', 'nobody']

/**
 * The account under which a server runs that refuses to run as root: `undefined` if this process is not root and can run it
 * itself.
 */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const users = lines.map((line) => line.split(':'))
  for (const wanted of NAMES) {
    const found = users.find(([name]) => name === wanted)
    if (found !== undefined) return { uid: Number(found[2]), gid: Number(found[3]) }
  }
  throw new Error(`this process is root, and the machine has none of the users ${NAMES.join(', ')} to run the server`)
}
