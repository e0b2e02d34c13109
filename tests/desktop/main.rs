//! The whole job in the real window: the app, its page, its native dialogs, a model on loopback.
//!
//! It needs Xvfb, openbox, xdotool, ImageMagick, dbus, gnome-keyring and WebKitWebDriver, and fails
//! without them. What each layer does in detail is tested beside it; here is what a user does.

mod job;
mod safety;
mod sockets;
