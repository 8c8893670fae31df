/** The folder of the generated pages, below `docs/`. */
export const API_FOLDER = 'reference/api'
