export { LeaseUi } from './lease-ui.js'
export type { LeaseUiOptions, UiAccess, UiRequest, UiUser } from './lease-ui-options.js'
