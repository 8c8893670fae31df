/** The stores of leases that a service can be written for; each has a folder in `templates/stores`. */
export const stores = ['local', 'redis', 'postgres', 'etcd', 'consul', 'kubernetes', 'azure-blob'] as const

/** The recipes that a service can begin with; each has a folder in `templates/recipes`. */
export const recipes = ['leader', 'schedule', 'once', 'permits', 'partitions', 'single-flight', 'actor'] as const

export type StoreChoice = (typeof stores)[number]
export type RecipeChoice = (typeof recipes)[number]

/** The answers of the user: those of the command line, completed by questions. */
export interface Choices {
  /** The path of the folder, as the user gave it. */
  readonly path: string
  readonly store: StoreChoice
  readonly recipe: RecipeChoice
}

/** The choices for `--yes`: a service that starts without any server. */
export const defaults: Choices = { path: 'my-service', store: 'local', recipe: 'leader' }
