/** What a Role can grant that is asked for here. */
export type Verb = 'get' | 'create' | 'update' | 'watch'

/** All that the leases of a store need. */
export const VERBS: readonly Verb[] = ['get', 'create', 'update', 'watch']

/** The Role that grants all the verbs that are needed, those marked that are missing. */
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
