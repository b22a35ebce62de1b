/** Which run this tab has open: a reload brings it back. Forgotten while it is being opened, so that a run at which the tab
 * dies is not opened again and again. */
import { recall, remember } from './remembered';

const OPEN = 'posttrain.open';

export function opened(id: string | undefined): void {
    remember('tab', OPEN, id);
}

/** The run that was open before the reload; asked once. */
export function takeOpened(): string | undefined {
    const id = recall('tab', OPEN);
    opened(undefined);
    return id;
}
