/** The verbs of a Role that this package uses. */
export type Verb = 'get' | 'create' | 'update' | 'watch' | 'list'

/** The verbs that leases need; `list` only lists them. */
export const VERBS = ['get', 'create', 'update', 'watch'] as const satisfies Verb[]

/** The Role that grants the needed verbs, with the missing ones in a comment. */
export function roleFor(
  { group, plural }: { readonly group: string; readonly plural: string },
  namespace: string,
  missing: readonly Verb[],
  needed: readonly Verb[] = VERBS,
): string {
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    'kind: Role',
    'metadata:',
    '  name: leasehold',
    `  namespace: ${namespace}`,
    'rules:',
    `  - apiGroups: ["${group}"]`,
    `    resources: ["${plural}"]`,
    `    verbs: [${needed.map((verb) => `"${verb}"`).join(', ')}] # missing: ${missing.join(', ')}`,
    '',
  ].join('\n')
}
