import type { Workspace } from '../workspaces.js'

/**
 * The packages in an order in which each comes after those that it needs, so that a package that can be installed finds its
 * peers. Among those that may come next, the first by name does.
 */
export function publishOrder(workspaces: readonly Workspace[]): readonly Workspace[] {
  const left = new Map(workspaces.map((workspace) => [workspace.manifest.name, workspace]))
  const ordered: Workspace[] = []
  while (left.size > 0) {
    const next = [...left.values()].find(({ manifest }) => neededBy(manifest).every((name) => !left.has(name)))
    if (next === undefined) throw new Error(`these packages need each other: ${[...left.keys()].join(', ')}`)
    left.delete(next.manifest.name)
    ordered.push(next)
  }
  return ordered
}

function neededBy({ dependencies, peerDependencies, peerDependenciesMeta = {} }: Workspace['manifest']): string[] {
  const names = Object.keys({ ...dependencies, ...peerDependencies })
  return names.filter((name) => peerDependenciesMeta[name]?.optional !== true)
}
